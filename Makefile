# tracing-quilt: patches for kernel/trace, and scripts that fetch, build, boot and
# test them. "make help" lists the targets.

Q := tools/quilt

.DEFAULT_GOAL := help
.PHONY: help demo test tree export bump check bisect bench bench-workloads bench-peers bench-arm64 shell torture prove proof mutants kunit selftest scripts-test deb deb-test clean FORCE

help:
	@echo 'make demo       fetch, verify, apply, build, boot, and show the topics live'
	@echo 'make test       the whole test suite'
	@echo
	@echo 'make tree       kernel tree in build/linux: the pinned base and the quilt as commits'
	@echo 'make export     write patches, series, base and the shown files from that tree'
	@echo 'make bump       move the quilt to another version of Linux, and list the patches that'
	@echo '                apply, are upstream, or need work (VERSION=X.Y.Z or TARBALL=FILE)'
	@echo 'make check      compare patches, tree and shown files, and check patches and texts'
	@echo 'make bisect     build every patch on its own, and every fix on the base with the'
	@echo '                fixes that its changelog names (slow)'
	@echo 'make shell      an interactive shell in the guest'
	@echo 'make kunit      KUnit alone (UML, UML with sanitizers, x86_64 in QEMU)'
	@echo 'make selftest   the selftests of the quilt alone, in the guest'
	@echo 'make scripts-test  the tests of the scripts'
	@echo 'make torture    register, unregister, create and destroy while tracing, under'
	@echo '                sanitizers (long; CYCLES=N)'
	@echo 'make prove      show the tests of the fixes failing on the base, and passing with'
	@echo '                the fixes and nothing else (slow)'
	@echo 'make proof      the matrix: architectures, compilers, configurations, tortures, with a'
	@echo '                line of results each (hours; goes on where it was; CELLS="kunit-*")'
	@echo 'make mutants    change lines of kernel code, to see if a test notices (slow; N=20,'
	@echo '                TOPIC=...; G=1 with the guest and its selftests, too)'
	@echo 'make bench      cost per record beside the base, as tables and plots'
	@echo 'make bench-workloads  overhead of tracing for dbench, tbench and a compile job'
	@echo 'make bench-peers  a record beside perf, BPF and LTTng, and how the cost grows'
	@echo 'make bench-arm64  cost per record on arm64'
	@echo 'make deb        Debian packages with the configuration of the running kernel, for a'
	@echo '                test machine (CONFIG=FILE, LSMOD=FILE or - to trim, FRAGMENT=FILE)'
	@echo 'make deb-test   install such a package into a Debian system, and boot that (slow)'
	@echo 'make clean      remove builds and logs; the kernel tree and the cache stay'
	@echo
	@echo 'Variables: BUILD=DIR, JOBS=N, LINUX_SRC=DIR, LINUX_TARBALL=FILE, BASE=any, ACCEL=tcg|kvm'

tree export check demo test kunit prove:
	@$(Q)/$@.sh

bisect:
	@$(Q)/bisect.sh
	@$(Q)/bisect-fixes.sh

bump:
	@$(Q)/bump.sh $(or $(TARBALL),$(VERSION))

proof:
	@$(Q)/proof.sh $(CELLS)

mutants:
	@$(Q)/mutants.sh -n $(or $(N),20) $(addprefix -t ,$(TOPIC)) $(if $(G),-g)

bench:
	@tools/bench/bench.sh

bench-workloads bench-peers bench-arm64:
	@$(Q)/tree.sh --keep
	@tools/bench/$(@:bench-%=%).sh

deb:
	@$(Q)/tree.sh --keep
	@$(Q)/deb.sh $(addprefix -c ,$(CONFIG)) $(addprefix -m ,$(LSMOD)) $(addprefix -e ,$(FRAGMENT))

deb-test:
	@$(Q)/tree.sh --keep
	@$(Q)/deb-test.sh

shell:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/guest.sh shell

selftest:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/selftest.sh

scripts-test:
	@$(Q)/tests/run.sh

torture:
	@$(Q)/tree.sh --keep
	@$(Q)/torture.sh

clean:
	@rm -rf build/out build/logs build/guest build/check build/prove build/deb

# A file that has the name of a target would be up to date.
Makefile: ;
FORCE:
%: FORCE
	@echo "error: no target '$@'" >&2
	@echo "       'make help' lists them" >&2
	@exit 2
