#!/bin/sh
# Prints C code with NUMBER events or sites of a kind, each with an int and a u64.
# The difference of two sizes gives the size of one.
#
# usage: generate.sh KIND NUMBER
#
#   KIND  ktrace_event  ktrace() lines with a name each
#         ktrace_site   ktrace() lines with one name
#         trace_event   a TRACE_EVENT() each, and the line that records it
#         define_event  a DEFINE_EVENT() each of one class, and the line
#         trace_printk  trace_printk() lines

kind=$1 number=$2

# lines FORMAT: once for each, with its number
lines() {
	i=1
	while [ "$i" -le "$number" ]; do
		# shellcheck disable=SC2059
		printf "$1" "$i"
		i=$((i + 1))
	done
}

# Of the events' header
header() {
	cat <<END
#undef TRACE_SYSTEM
#define TRACE_SYSTEM quilt_size
#if !defined(SIZE_EVENTS) || defined(TRACE_HEADER_MULTI_READ)
#define SIZE_EVENTS
#include <linux/tracepoint.h>
END
	fields='TP_PROTO(int number, u64 value), TP_ARGS(number, value),
	TP_STRUCT__entry(__field(int, number) __field(u64, value)),
	TP_fast_assign(__entry->number = number; __entry->value = value;),
	TP_printk("number=%%d value=%%llu", __entry->number, __entry->value)'
	if [ "$kind" = trace_event ]; then
		lines "TRACE_EVENT(size_event_%03d, $fields);\n"
	else
		# shellcheck disable=SC2059
		printf "DECLARE_EVENT_CLASS(size_class, $fields);\n"
		lines 'DEFINE_EVENT(size_class, size_event_%03d, TP_PROTO(int number, u64 value), TP_ARGS(number, value));\n'
	fi
	cat <<END
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ${kind}_$number
#include <trace/define_trace.h>
END
}

if [ "${3:-}" = header ]; then
	header
	exit
fi

echo '#include <linux/kernel.h>'
case $kind in
ktrace_*) echo '#include <linux/ktrace.h>' ;;
trace_printk) ;;
*)
	echo '#define CREATE_TRACE_POINTS'
	printf '#include "%s_%s.h"\n' "$kind" "$number"
esac
echo
# All of them in one function: it has a prologue whether there are any or not.
echo 'void size_function(int number, u64 value);'
echo 'void size_function(int number, u64 value)'
echo '{'
case $kind in
ktrace_event) lines '\tktrace(size_event_%03d, "number=%%d value=%%llu", number, value);\n' ;;
ktrace_site) lines '\tktrace(size_event, "number=%%d value=%%llu", number, value); /* %03d */\n' ;;
trace_printk) lines '\ttrace_printk("size_event_%03d number=%%d value=%%llu", number, value);\n' ;;
*) lines '\ttrace_size_event_%03d(number, value);\n' ;;
esac
echo '}'
