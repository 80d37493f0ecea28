#!/bin/sh
# Installs riskbreaker for one user: sh install.sh [VERSION]
#
# It downloads the archive for this system and its checksum, compares them, and writes to $RISKBREAKER_HOME (~/.local by
# default): bin/riskbreaker, completions and the manual page. RISKBREAKER_RELEASES is the address of the releases; it may be
# a folder (file:///...). It needs curl or wget, tar, and sha256sum or shasum.
set -eu

releases=${RISKBREAKER_RELEASES:-@RELEASES@}
version=${1:-@VERSION@}
home=${RISKBREAKER_HOME:-$HOME/.local}

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

fetch() {
	case $1 in
	file://*) cp "${1#file://}" "$2" ;;
	*)
		if command -v curl >/dev/null; then
			curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --output "$2" "$1"
		elif command -v wget >/dev/null; then
			wget --https-only -q -O "$2" "$1"
		else
			fail "curl or wget is needed"
		fi
		;;
	esac
}

target() {
	case $(uname -m) in
	x86_64 | amd64) machine=x86_64 ;;
	aarch64 | arm64) machine=aarch64 ;;
	*) fail "there is no program for the processor $(uname -m); build it from source" ;;
	esac
	case $(uname -s) in
	Darwin) echo "$machine-apple-darwin" ;;
	Linux)
		# The static program runs beside any C library; that of glibc is faster.
		if glibc_is_new; then echo "$machine-unknown-linux-gnu"; else echo "$machine-unknown-linux-musl"; fi
		;;
	*) fail "there is no program for $(uname -s); on Windows use install.ps1" ;;
	esac
}

glibc_is_new() {
	found=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
	[ -n "$found" ] || return 1
	# shellcheck disable=SC2086 # two words
	set -- $found
	[ "$1" -gt 2 ] || [ "$2" -ge "${RISKBREAKER_GLIBC_MINOR:-@GLIBC_MINOR@}" ]
}

case $releases$version in *@*@*) fail "this copy belongs to no release: set RISKBREAKER_RELEASES and give a version" ;; esac
name=riskbreaker-$version-$(target)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
fetch "$releases/v$version/$name.tar.gz" "$work/$name.tar.gz" || fail "cannot get $releases/v$version/$name.tar.gz"
fetch "$releases/v$version/sha256sums.txt" "$work/sha256sums.txt" || fail "cannot get the checksums"
(
	cd "$work"
	grep "  $name.tar.gz\$" sha256sums.txt >one.txt || fail "the checksums do not name $name.tar.gz"
	if command -v sha256sum >/dev/null; then sha256sum -c one.txt >/dev/null; else shasum -a 256 -c one.txt >/dev/null; fi
) || fail "the checksum of $name.tar.gz differs: nothing was installed"
tar -xzf "$work/$name.tar.gz" -C "$work"
put() {
	mkdir -p "$(dirname "$2")"
	cp "$work/$name/$1" "$2.new"
	mv -f "$2.new" "$2"
}
put riskbreaker "$home/bin/riskbreaker"
put man/riskbreaker.1 "$home/share/man/man1/riskbreaker.1"
put completions/riskbreaker.bash "$home/share/bash-completion/completions/riskbreaker"
put completions/_riskbreaker "$home/share/zsh/site-functions/_riskbreaker"
put completions/riskbreaker.fish "$home/share/fish/vendor_completions.d/riskbreaker.fish"
"$home/bin/riskbreaker" --version
case :$PATH: in *":$home/bin:"*) ;; *) echo "Add $home/bin to your PATH." ;; esac
