/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rds

#if !defined(_TRACE_RDS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RDS_H

#include <linux/in6.h>
#include <linux/tracepoint.h>

struct rds_conn_path;

/* Programs that read the binary buffer need the values. */
TRACE_DEFINE_ENUM(RDS_CONN_DOWN);
TRACE_DEFINE_ENUM(RDS_CONN_CONNECTING);
TRACE_DEFINE_ENUM(RDS_CONN_DISCONNECTING);
TRACE_DEFINE_ENUM(RDS_CONN_UP);
TRACE_DEFINE_ENUM(RDS_CONN_RESETTING);
TRACE_DEFINE_ENUM(RDS_CONN_ERROR);

#define show_rds_conn_state(val)				\
	__print_symbolic(val,					\
			 { RDS_CONN_DOWN, "DOWN" },		\
			 { RDS_CONN_CONNECTING, "CONNECTING" },	\
			 { RDS_CONN_DISCONNECTING, "DISCONNECTING" }, \
			 { RDS_CONN_UP, "UP" },			\
			 { RDS_CONN_RESETTING, "RESETTING" },	\
			 { RDS_CONN_ERROR, "ERROR" })

/* The state of a path has changed. @ip is the place in the code. */
TRACE_EVENT(rds_conn_state,
	    TP_PROTO(const struct rds_conn_path *cp, int oldstate, int newstate,
		     unsigned long ip),

	    TP_ARGS(cp, oldstate, newstate, ip),

	    TP_STRUCT__entry(__array(__u8, laddr, sizeof(struct in6_addr))
			     __array(__u8, faddr, sizeof(struct in6_addr))
			     __field(unsigned int, netns)
			     __field(unsigned int, path)
			     __field(__u8, tos)
			     __string(transport, cp->cp_conn->c_trans->t_name)
			     __field(int, oldstate)
			     __field(int, newstate)
			     __field(unsigned long, ip)),

	    TP_fast_assign(const struct rds_connection *conn = cp->cp_conn;

			   memcpy(__entry->laddr, &conn->c_laddr, sizeof(conn->c_laddr));
			   memcpy(__entry->faddr, &conn->c_faddr, sizeof(conn->c_faddr));
			   __entry->netns = read_pnet(&conn->c_net)->ns.inum;
			   __entry->path = cp->cp_index;
			   __entry->tos = conn->c_tos;
			   __assign_str(transport);
			   __entry->oldstate = oldstate;
			   __entry->newstate = newstate;
			   __entry->ip = ip;),

	    TP_printk("transport=%s laddr=%pI6c faddr=%pI6c netns=%u tos=%u path=%u oldstate=%s newstate=%s caller=%pS",
		      __get_str(transport), __entry->laddr, __entry->faddr,
		      __entry->netns, __entry->tos, __entry->path,
		      show_rds_conn_state(__entry->oldstate),
		      show_rds_conn_state(__entry->newstate),
		      (void *)__entry->ip)
);

DECLARE_EVENT_CLASS(rds_conn_attempt,
		    TP_PROTO(const struct rds_conn_path *cp, int value),

		    TP_ARGS(cp, value),

		    TP_STRUCT__entry(__array(__u8, laddr, sizeof(struct in6_addr))
				     __array(__u8, faddr, sizeof(struct in6_addr))
				     __field(unsigned int, netns)
				     __field(unsigned int, path)
				     __field(__u8, tos)
				     __string(transport, cp->cp_conn->c_trans->t_name)
				     __field(int, value)),

		    TP_fast_assign(const struct rds_connection *conn = cp->cp_conn;

				   memcpy(__entry->laddr, &conn->c_laddr, sizeof(conn->c_laddr));
				   memcpy(__entry->faddr, &conn->c_faddr, sizeof(conn->c_faddr));
				   __entry->netns = read_pnet(&conn->c_net)->ns.inum;
				   __entry->path = cp->cp_index;
				   __entry->tos = conn->c_tos;
				   __assign_str(transport);
				   __entry->value = value;),

		    TP_printk("transport=%s laddr=%pI6c faddr=%pI6c netns=%u tos=%u path=%u delay=%dms",
			      __get_str(transport), __entry->laddr, __entry->faddr,
			      __entry->netns, __entry->tos, __entry->path,
			      __entry->value)
);

/* A worker will try to connect, after a delay in milliseconds. */
DEFINE_EVENT(rds_conn_attempt, rds_conn_reconnect,
	     TP_PROTO(const struct rds_conn_path *cp, int value),

	     TP_ARGS(cp, value)
);

/* A worker has tried to connect. The transport returned 0 or an error. */
DEFINE_EVENT_PRINT(rds_conn_attempt, rds_conn_connect,
		   TP_PROTO(const struct rds_conn_path *cp, int value),

		   TP_ARGS(cp, value),

		   TP_printk("transport=%s laddr=%pI6c faddr=%pI6c netns=%u tos=%u path=%u ret=%d",
			     __get_str(transport), __entry->laddr, __entry->faddr,
			     __entry->netns, __entry->tos, __entry->path,
			     __entry->value)
);

#endif /* _TRACE_RDS_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
