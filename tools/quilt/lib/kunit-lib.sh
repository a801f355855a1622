# shellcheck shell=bash
# Shared by the scripts that run KUnit. Source it behind lib.sh.

# kunit_i386 DIR FILTER LIMIT: runs KUnit on the i386 kernel in DIR; its log goes to
# standard output. kunit.py would take a /dev/kvm, which may hang a guest.
kunit_i386() {
	"$QUILT_TOOLS/lib/qemu.sh" install i386 >&2
	timeout "$3" qemu-system-i386 -nodefaults -no-reboot -display none -serial stdio \
		-accel tcg -m 1024 -kernel "$1/arch/x86/boot/bzImage" \
		-append "kunit.filter_glob=$2 kunit.enable=1 console=ttyS0 kunit_shutdown=reboot" \
		2>&1 </dev/null
}

# kconfig_add RUN: adds the options of configs/RUN.config to $options, as kunit.py
# takes them. The run uml is what kunit.py does for anybody.
kconfig_add() {
	local opt config=$QUILT_TOOLS/configs/$1.config
	{ [ "$1" != uml ] && [ -f "$config" ]; } || return 0
	while read -r opt; do
		options+=(--kconfig_add "$opt")
	done < <(grep '^CONFIG' "$config")
}

# cases CONSOLE: "skips SUITE.CASE" or "runs SUITE.CASE" for each case, and with
# /PARAMETER behind it for each parameter of a case that runs
cases() {
	sed -E 's/^\[ *[0-9.]+\](\[ *[A-Z][0-9]+\])? //; s/\r$//' "$1" |
		awk '/^    # Subtest: / { suite = $3 }
			/^    (    )?(not )?ok [0-9]+ / {
				verdict = / # SKIP/ ? "skips" : "runs"
				parameter = /^        /
				sub(/^ *(not )?ok [0-9]+ /, "")
				sub(/ # .*/, "")
				gsub(" ", "_")
				if (parameter) {
					name[++n] = $0
					which[n] = verdict
					next
				}
				print verdict, suite "." $0
				for (i = 1; i <= n && verdict == "runs"; i++)
					print which[i], suite "." $0 "/" name[i]
				n = 0
			}' | sort -u
}

# listed_cases CONSOLE LISTED: cases, with "skips SUITE.CASE/*" instead of each parameter
# that skips where that is listed, and nothing for those that run
listed_cases() {
	cases "$1" | awk -v listed="$2" '
		BEGIN {
			split(listed, name, "\n")
			for (i in name)
				is_listed[name[i]]
		}
		{
			any = $2
			sub("/.*", "/*", any)
			if (!(any in is_listed) || any == $2)
				print
			else if ($1 == "skips")
				print "skips", any
		}' | sort -u
}

# A case that begins to skip proves nothing any more, and its verdict is still ok. One
# that is listed and runs would hide that it skips again, and so would one that got
# another name. ALL is empty if FILTER chose some suites.
judge_skips() { # RUN CONSOLE ALL
	local list=${SKIPS:-$QUILT_TOOLS/data/skips} listed found new old gone=''
	[ -f "$2" ] || return 0
	listed=$(sed -nE "s/^$1 //p" "$list" | sort -u)
	# A corner takes options away, so its runs may skip more.
	[[ -n $listed || $1 != corner-* ]] || return 0
	found=$(listed_cases "$2" "$listed")
	new=$(sed -n 's/^skips //p' <<<"$found" | comm -23 - <(echo "$listed"))
	old=$(sed -n 's/^runs //p' <<<"$found" | comm -12 - <(echo "$listed"))
	[ -z "$3" ] || gone=$(cut -d ' ' -f 2- <<<"$found" | sort -u |
		comm -13 - <(grep -vx -e - <<<"$listed"))
	[ -z "$new" ] || problem "$1" "skips what tools/quilt/data/skips does not list: ${new//$'\n'/ }" "$2"
	[ -z "$old" ] || problem "$1" "runs what tools/quilt/data/skips lists, remove it there: ${old//$'\n'/ }" "$2"
	[ -z "$gone" ] || problem "$1" "has no case that tools/quilt/data/skips lists: ${gone//$'\n'/ }" "$2"
}
