# tracing-quilt: patches for kernel/trace, and scripts that fetch, build, boot and
# test them. "make help" lists the targets.

Q := tools/quilt

.DEFAULT_GOAL := help
.PHONY: help demo test tree export bump check bisect bench bench-workloads bench-peers bench-arm64 bench-memory bench-processes bench-hot-functions bench-steps bench-stepping shell torture litmus prove proof mutants kunit selftest scenarios lockdown arm64 ktrace-off scripts-test deb deb-test clean FORCE

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
	@echo 'make scenarios  the scenarios alone, in the guest (ONLY=PATTERN)'
	@echo 'make lockdown   what a kernel that is locked down refuses: exports, instances, files'
	@echo '                (a kernel of its own)'
	@echo 'make arm64      selftests and scenarios on arm64 (emulated, half an hour and more)'
	@echo 'make ktrace-off  a ktrace() line that is off is one NOP: gcc, clang, x86_64, arm64'
	@echo 'make scripts-test  the tests of the scripts'
	@echo 'make torture    register, unregister, create and destroy while tracing, under'
	@echo '                sanitizers (long; CYCLES=N)'
	@echo 'make litmus     the pairs of memory barriers in the memory model of the kernel (needs herd7)'
	@echo 'make prove      show the tests of the fixes failing on the base, and passing with'
	@echo '                the fixes and nothing else (slow)'
	@echo 'make proof      the matrix: architectures, compilers, configurations, tortures, with a'
	@echo '                line of results each (hours; goes on where it was; CELLS="kunit-*")'
	@echo 'make mutants    change lines of kernel code, to see if a test notices (slow; N=20,'
	@echo '                TOPIC=...; G=1 with the guest and its selftests, too;'
	@echo '                K=1 first those with a result)'
	@echo 'make bench      cost per record beside the base, as tables and plots'
	@echo 'make bench-workloads  overhead of tracing for dbench, tbench and a compile job'
	@echo 'make bench-peers  a record beside perf, BPF and LTTng, and how the cost grows'
	@echo 'make bench-arm64  cost per record on arm64'
	@echo 'make bench-processes  processes under tracers, a part of make bench'
	@echo 'make bench-memory  memory of an event at run time, with kernels that are built'
	@echo 'make bench-hot-functions  text of the functions that each record runs'
	@echo 'make bench-stepping  instructions of a record, function by function'
	@echo 'make bench-steps  cost per record before and after each patch of fastpath, on x86_64'
	@echo '                and arm64 (long; goes on where it was; ARCHES=x86_64)'
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
	@$(Q)/mutants.sh -n $(or $(N),20) $(addprefix -t ,$(TOPIC)) $(if $(G),-g) $(if $(K),-k)

bench:
	@tools/bench/bench.sh

bench-workloads bench-peers bench-arm64 bench-memory bench-processes bench-hot-functions bench-steps bench-stepping:
	@$(Q)/tree.sh --keep
	@tools/bench/$(@:bench-%=%).sh

deb:
	@$(Q)/tree.sh --keep
	@$(Q)/deb.sh $(addprefix -c ,$(CONFIG)) $(addprefix -m ,$(LSMOD)) $(addprefix -e ,$(FRAGMENT))

shell:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/guest.sh shell

selftest scenarios:
	@$(Q)/tree.sh --keep
	@$(Q)/kernel.sh guest
	@$(Q)/$@.sh

scripts-test:
	@$(Q)/tests/run.sh

torture litmus lockdown arm64 ktrace-off deb-test:
	@$(Q)/tree.sh --keep
	@$(Q)/$@.sh

clean:
	@rm -rf build/out build/logs build/guest build/check build/prove build/deb

# A file that has the name of a target would be up to date.
Makefile: ;
FORCE:
%: FORCE
	@echo "error: no target '$@'" >&2
	@echo "       'make help' lists them" >&2
	@exit 2
