# Finds the splats of one console log; see splat.sh, which calls this with the
# list of known splats as first file and the log as second.

BEGIN { FS = "\t" }

# The kernel's own text of a line. Text before the time stamp is output of a
# program that was in the middle of a line.
function message(line)
{
	gsub(/\r/, "", line)
	has_stamp = match(line, /\[ *[0-9]+\.[0-9][0-9][0-9]+\](\[ *[CT][0-9]+\])? ?/)
	if (has_stamp)
		line = substr(line, RSTART + RLENGTH)
	return line
}

# Results and names of tests: KTAP, ftracetest.
function is_result(m)
{
	return m ~ /^ *(not )?ok [0-9]/ || m ~ /^ *# / || (!has_stamp && m ~ /^\[[0-9]+\]/)
}

function is_header(m)
{
	return m ~ /^(\[ )?([A-Za-z0-9_.\/-]+( [a-z]+)?: )?(WARNING|BUG): / ||
	       m ~ /^BUG [^ ]+ \(.*\): / ||
	       m ~ /^kernel BUG at / ||
	       m ~ /^(.*: )?Oops( - .*)?: / ||
	       m ~ /: [0-9a-f]+ \[#[0-9]+\]/ ||
	       m ~ /^(.*: )?Kernel panic/ ||
	       m ~ /^general protection fault/ ||
	       m ~ /[Uu]nable to handle kernel / ||
	       m ~ /^[Uu]nable to handle / ||
	       m ~ /^KASAN: .*(in range|null-ptr-deref)/ ||
	       m ~ /^(UBSAN|KCSAN|KFENCE|KMSAN): [a-z-]+ in / ||
	       m ~ /possible recursive locking|circular locking dependency|inconsistent lock state/ ||
	       m ~ /suspicious RCU usage|bad unlock balance|irq lock inversion|lock order detected/ ||
	       m ~ /held lock freed|still has locks held|lock held when returning|Invalid wait context/ ||
	       m ~ /turning off the locking correctness validator|trying to register non-static key/ ||
	       m ~ /^DEBUG_LOCKS_WARN_ON|^RCU used illegally/ ||
	       m ~ /(self-detected|detected( expedited)?) stall/ ||
	       m ~ /soft lockup - CPU|detected hard LOCKUP|workqueue lockup/ ||
	       m ~ /INFO: task .* blocked .*for more than/ ||
	       m ~ /kmemleak: .*new suspected memory leak/ || m ~ /^unreferenced object 0x/ ||
	       m ~ /^ODEBUG: / && m !~ /selftest passed/ ||
	       m ~ /scheduling while atomic|sleeping function called from invalid context/ ||
	       m ~ /^refcount_t: / || m ~ /^ERROR: Failed to create instance/ ||
	       m ~ /^(list|hlist)_(add|del) corruption/ ||
	       m ~ /^irq [0-9]+: nobody cared/ ||
	       m ~ /stack guard page was hit|Kernel stack is corrupted|^Fixing recursive fault/
}

function is_trace(m)
{
	return m ~ /^ *<\/?[A-Z_0-9]+>/ ||
	       m ~ /^ *(\[<[0-9a-f]+>\] )?(\? )?[A-Za-z_.][^ ]*\+0x[0-9a-f]+\/0x/ ||
	       m ~ /^(RIP|RSP|RAX|RBX|RCX|RDX|RSI|RDI|RBP|R[0-9]+|EFLAGS|Code|CS|FS|CR2|DR[0-9]|PKRU): ?/
}

function open_block(m)
{
	close_block()
	header = m
	first = FNR
	length_of_block = traced = 0
}

function add(m)
{
	body[++length_of_block] = m
}

function in_block(regex,   i)
{
	for (i = 1; i <= length_of_block; i++)
		if (body[i] ~ regex)
			return 1
	return 0
}

# Is this block a known one? Each may come once a boot, or any number of times.
function allowed(   i, j)
{
	for (i = 1; i <= known; i++) {
		if (used[i] || header !~ known_header[i])
			continue
		for (j = 1; j <= parts[i] && in_block(known_part[i, j]); j++)
			;
		if (j > parts[i]) {
			used[i] = !often[i]
			return 1
		}
	}
	return 0
}

function close_block(   i)
{
	if (header != "" && !allowed()) {
		printf "%s:%d: %s\n", log_name, first, header
		for (i = 2; i <= length_of_block && i <= 40; i++)
			print "    | " body[i]
		bad++
	}
	header = ""
}

NR == FNR {
	if ($0 ~ /^#/ || NF < 3 || ($1 != kind && $1 != kind "+"))
		next
	known_header[++known] = $2
	often[known] = $1 != kind
	parts[known] = NF - 2
	for (i = 3; i <= NF; i++)
		known_part[known, i - 2] = $i
	next
}

{
	m = message($0)
	if ((stamped && !has_stamp) || is_result(m))
		next
}

m ~ /^Linux version / {
	close_block()
	split("", used)
}

m ~ /^-+\[ (cut here|ftrace bug) \]-+$/ {
	open_block(m)
	add(m)
	cut = 1
	next
}

is_header(m) {
	# "cut here" is no more than the line above the header.
	if (header != "" && cut) {
		header = m
		first = FNR
	} else {
		open_block(m)
	}
	cut = 0
	add(m)
	next
}

header == "" && m ~ /^ *Call [Tt]race:/ {
	open_block(m)
	add(m)
	traced = 1
	cut = 0
	next
}

header == "" { next }

m ~ /^---\[ end trace/ || m ~ /^=====+$/ && !cut {
	add(m)
	close_block()
	next
}

m ~ /^ *Call [Tt]race:/ {
	traced = 1
	add(m)
	next
}

# The trace is over, or there will be none.
(traced && !is_trace(m)) || length_of_block >= 200 {
	close_block()
	next
}

{ add(m) }

END {
	close_block()
	exit bad > 0
}
