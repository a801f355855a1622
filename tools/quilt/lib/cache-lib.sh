# shellcheck shell=bash
# The cache of sources: downloads with their checksums. Source it behind lib.sh.

sha256_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# keep FILE NAME: into the cache, with the checksum that later runs compare.
keep() {
	printf '%s  %s\n' "$(sha256_of "$1")" "$2" >"$CACHE/$2.sha256"
	mv "$1" "$CACHE/$2"
}

# cached NAME: is it in the cache? It is deleted when its checksum is wrong.
cached() {
	local file=$CACHE/$1
	[ -f "$file" ] || return 1
	if [ ! -f "$file.sha256" ]; then
		warn "$file has no checksum beside it, and is not used"
		return 1
	fi
	(cd "$CACHE" && sha256sum --status -c "$1.sha256") && return 0
	warn "$file is damaged, and is deleted and fetched again"
	rm -f "$file" "$file.sha256"
	return 1
}

# A bar on a terminal, a line every half minute elsewhere.
fetch_file() {
	if [ -t 2 ]; then
		"$@"
	else
		logged "$LOGS/fetch.log" "$@"
	fi
}
