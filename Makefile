# SPDX-License-Identifier: GPL-2.0-or-later
# Shortcuts; the build itself is Meson's. `make run` and `make check` install what they need.

.DEFAULT_GOAL := build
.PHONY: run check build static cross bench golden vm vm-test format lint install clean help

DESTDIR ?=
PREFIX ?= /usr/local
NINJA = ninja -C

help:
	@echo 'make run      install what is missing, build, show the board, measure it for 20 s'
	@echo 'make check    install what tests need, build with warnings as errors, run every test'
	@echo 'make build    build/punctual'
	@echo 'make static   build-static/punctual: one file that needs nothing else on the board'
	@echo 'make cross    build-arm64/punctual, build-armhf/punctual; compiles for riscv64'
	@echo 'make bench    figures against cyclictest, side by side'
	@echo 'make vm-test  of these, only those on virtual boards (TEST=WORD selects)'
	@echo 'make vm       a shell on a virtual board: BOARD=rt-4'
	@echo 'make format   clang-format over src, tests and bench'
	@echo 'make lint     clang-format, cppcheck, clang-tidy, shellcheck'
	@echo 'make install  into PREFIX (/usr/local), below DESTDIR'
	@echo 'make clean    remove every build folder'

run: build
	@scripts/run.sh build/punctual

check:
	@scripts/deps.sh check
	@python3 tests/run.py --build

build:
	@scripts/deps.sh run
	@scripts/configure.sh build
	@$(NINJA) build

static:
	@scripts/deps.sh run
	@scripts/static.sh

cross:
	@scripts/deps.sh cross
	@scripts/cross.sh arm64 armhf riscv64
	@python3 tests/run.py cli/test_cross.py

bench: build
	@scripts/deps.sh check
	@for what in topology cost fidelity; do python3 bench/$$what.py --punctual build/punctual; done

vm-test: static
	@scripts/deps.sh check
	@scripts/cross.sh arm64 armhf
	@python3 tests/vm/vm.py test $(TEST)

BOARD ?= rt-4
vm: static
	@python3 tests/vm/vm.py boot $(BOARD)

golden: build
	@UPDATE_GOLDEN=1 python3 tests/run.py cli

format:
	@scripts/lint.sh --fix

lint:
	@scripts/deps.sh lint
	@scripts/lint.sh format cppcheck tidy shell

install:
	@scripts/deps.sh run
	@scripts/configure.sh build -Dprefix=$(PREFIX)
	@$(NINJA) build
	@DESTDIR=$(DESTDIR) meson install -C build --no-rebuild

clean:
	rm -rf build build-*
