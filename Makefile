# tracing-quilt: patches for kernel/trace, and what fetches, builds, boots and
# tests them. "make help" lists the targets.

Q := tools/quilt

.DEFAULT_GOAL := help
.PHONY: help demo test tree export check bisect bench shell torture prove kunit selftest scripts-test clean

help:
	@echo 'make demo       fetch, verify, apply, build, boot, and show every topic live'
	@echo 'make test       the whole test suite'
	@echo
	@echo 'make tree       kernel tree in build/linux: the pinned base and the quilt as commits'
	@echo 'make export     write patches, series, base and the shown files from that tree'
	@echo 'make check      do patches, tree and shown files agree, and are they clean'
	@echo 'make bisect     does every patch build on its own (slow)'
	@echo 'make shell      an interactive shell in the guest'
	@echo 'make kunit      KUnit alone (UML, UML with sanitizers, x86_64 in QEMU)'
	@echo 'make selftest   the selftests of the quilt alone, in the guest'
	@echo 'make torture    register, unregister, create and destroy while tracing, under'
	@echo '                sanitizers (long; CYCLES=N)'
	@echo 'make prove      show the tests of the fixes failing on the unpatched base'
	@echo 'make bench      cost per record beside the base, as a table and a plot'
	@echo 'make clean      remove builds and logs; the kernel tree and the cache stay'
	@echo
	@echo 'Variables: BUILD=DIR, JOBS=N, LINUX_SRC=DIR, LINUX_TARBALL=FILE, BASE=any, ACCEL=tcg|kvm'

tree export check bisect demo test kunit prove:
	@$(Q)/$@.sh

bench:
	@tools/bench/bench.sh

shell:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/guest.sh shell

selftest:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/selftest.sh

torture:
	@$(Q)/tree.sh --keep
	@$(Q)/torture.sh

clean:
	@rm -rf build/out build/logs build/guest

%:
	@echo "error: no target '$@'" >&2
	@echo "       'make help' lists them" >&2
	@exit 2
