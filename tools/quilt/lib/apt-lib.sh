# shellcheck shell=bash
# Packages of Debian that the host does not install. Source it behind lib.sh.

# apt_isolated SUITE...: prints options for apt-get, one a line, to use the host's
# mirror with other suites, and lists and a cache of its own. The host does not
# change.
apt_isolated() {
	local dir=$BUILD/apt src uri key suite
	make_dir "$dir/lists/partial"
	make_dir "$dir/cache/archives/partial"
	src=$(debian_source) || return 1
	uri=${src%% *}
	key=${src#* }
	: >"$dir/sources.list"
	for suite in "$@"; do
		printf 'deb [signed-by=%s] %s %s main\n' "$key" "$uri" "$suite" \
			>>"$dir/sources.list"
	done
	printf '%s\n' -o "Dir::Etc::SourceList=$dir/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$dir/lists" \
		-o "Dir::Cache=$dir/cache" \
		-o "APT::Sandbox::User=$(id -un)" \
		-o Acquire::Retries=2
}

# The mirror that this host already uses, and the key it is signed with:
# "URI KEYRING". Ubuntu has no Debian mirror: DEBIAN_MIRROR names one.
debian_source() {
	local uri key=/usr/share/keyrings/debian-archive-keyring.gpg
	# shellcheck disable=SC2016
	uri=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 2>/dev/null |
		awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }')}
	[ -n "$uri" ] || return 1
	printf '%s %s\n' "$uri" "$key"
}
