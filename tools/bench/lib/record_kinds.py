# SPDX-License-Identifier: GPL-2.0
"""The functions that a record of each kind runs when nothing interrupts and nothing
filters, for hot-functions."""

RESERVE = "ring_buffer_lock_reserve __rb_reserve_next trace_clock_local"
COMMIT = "ring_buffer_unlock_commit rb_commit"
EVENT = "trace_event_buffer_reserve tracing_gen_ctx_irq_test"
EVENT_DATA = "ring_buffer_event_data"
NEST = "ring_buffer_nest_start ring_buffer_nest_end"
SHORT = "ring_buffer_lock_reserve"

# Kind, row of the benchmark, functions of the base, functions of the quilt
KINDS = (
    ("reserve and commit", "", f"{RESERVE} {COMMIT}", f"{SHORT} {COMMIT}"),
    ("ring_buffer_write()", "ring_buffer_write() 24 bytes",
     "ring_buffer_write __rb_reserve_next trace_clock_local rb_commit",
     "ring_buffer_write rb_commit"),
    ("TRACE_EVENT", "TRACE_EVENT two u64",
     f"{EVENT} trace_event_buffer_lock_reserve {RESERVE} {EVENT_DATA} trace_event_buffer_commit "
     f"trace_buffer_unlock_commit_regs {COMMIT}",
     f"{EVENT} {SHORT} trace_event_buffer_commit {COMMIT}"),
    ("trace_printk()", "trace_printk() two u64",
     f"trace_vbprintk tracing_gen_ctx_irq_test {NEST} {RESERVE} {EVENT_DATA} {COMMIT}",
     f"trace_vbprintk tracing_gen_ctx_irq_test {NEST} {SHORT} {COMMIT}"),
    ("trace_puts()", "trace_puts()",
     f"__trace_bputs tracing_gen_ctx_irq_test {NEST} {RESERVE} {EVENT_DATA} {COMMIT}",
     f"__trace_bputs tracing_gen_ctx_irq_test {NEST} {SHORT} {COMMIT}"),
    ("trace_array_printk()", "trace_array_printk() two u64, in an instance",
     f"__trace_array_vprintk tracing_gen_ctx_irq_test {NEST} {RESERVE} {EVENT_DATA} {COMMIT}",
     f"__trace_array_vprintk tracing_gen_ctx_irq_test {NEST} {SHORT} {COMMIT}"),
    ("function tracer", "function tracer",
     f"function_trace_call tracing_gen_ctx_irq_test trace_function {RESERVE} {EVENT_DATA} {COMMIT}",
     f"function_trace_call tracing_gen_ctx_irq_test trace_function {SHORT} {COMMIT}"),
    ("function graph tracer", "function graph tracer, entry + return",
     f"trace_graph_entry graph_entry fgraph_get_task_var fgraph_reserve_data {RESERVE} "
     f"tracing_gen_ctx_irq_test trace_buffer_lock_reserve {EVENT_DATA} "
     f"trace_buffer_unlock_commit_nostack {COMMIT} trace_graph_return fgraph_retrieve_data "
     "__trace_graph_return",
     f"trace_graph_entry graph_entry fgraph_get_task_var fgraph_reserve_data {SHORT} "
     "trace_clock_local tracing_gen_ctx_irq_test __graph_entry "
     f"trace_buffer_unlock_commit_nostack {COMMIT} trace_graph_return fgraph_retrieve_data "
     "__trace_graph_return"),
)
# They are called by what makes records, which is not listed.
FIRST = ("ring_buffer_lock_reserve", "ring_buffer_unlock_commit", "ring_buffer_write",
         "trace_event_buffer_reserve", "trace_event_buffer_commit", "trace_vbprintk", "__trace_bputs",
         "__trace_array_vprintk", "function_trace_call", "trace_graph_entry", "trace_graph_return",
         "trace_clock_local")
# With the code that a record jumps over, too
WHOLE = ("ring_buffer_lock_reserve", "ring_buffer_unlock_commit")
