#!/bin/sh
# Pin what pyproject.toml asks for into requirements/*.lock; called by `make lock` with PYTHON set.
# pip-tools works in a throwaway environment and never joins the project's own.
set -eu

: "${PYTHON:?name the interpreter: make PYTHON=python3.11 lock}"
version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ "$version" != 3.11 ]; then
    echo "lock with Python 3.11, the oldest supported, not $version: make PYTHON=python3.11 lock" >&2
    exit 1
fi

environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"$PYTHON" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check 'pip-tools==7.6.2'

# No index address, no path of this machine: the locks must serve everybody.
compile() {
    output=requirements/$1.lock
    shift
    CUSTOM_COMPILE_COMMAND='make lock' "$environment/bin/pip-compile" --quiet --rebuild --upgrade \
        --generate-hashes --allow-unsafe --strip-extras \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
        --output-file "$output" "$@" pyproject.toml
    echo "wrote $output"
}

compile build --build-deps-for wheel --only-build-deps
compile base --constraint requirements/build.lock
compile dev --extra dev --constraint requirements/build.lock --constraint requirements/base.lock
