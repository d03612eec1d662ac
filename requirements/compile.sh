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
    output=requirements/$1.lock source=$2
    shift 2
    CUSTOM_COMPILE_COMMAND='make lock' "$environment/bin/pip-compile" --quiet --rebuild --upgrade \
        --generate-hashes --allow-unsafe --strip-extras \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
        --output-file "$output" "$@" "$source"
    echo "wrote $output"
}

# A build of torch for graphics cards asks for far more than one for processors, and which of them pip finds is up to its
# index. So torch itself stays out (requirements/torch.txt), and what every build needs is named here; a test compares.
tabular() {
    "$PYTHON" - <<'END'
import tomllib

with open("pyproject.toml", "rb") as project:
    extra = tomllib.load(project)["project"]["optional-dependencies"]["tabular"]
torch_needs = ["filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions"]
print(*(need for need in extra if not need.startswith("torch==")), *torch_needs, sep="\n")
END
}

# Named one by one, since the extra by itself would bring the base and torch along.
bench() {
    "$PYTHON" - <<'END'
import tomllib

with open("pyproject.toml", "rb") as project:
    print(*tomllib.load(project)["project"]["optional-dependencies"]["bench"], sep="\n")
END
}

compile build pyproject.toml --build-deps-for wheel --only-build-deps
compile base pyproject.toml --constraint requirements/build.lock
compile dev pyproject.toml --extra dev --constraint requirements/build.lock --constraint requirements/base.lock
tabular | compile tabular - --constraint requirements/dev.lock
bench | compile bench - --constraint requirements/dev.lock --constraint requirements/tabular.lock
compile local-model-build requirements/local-model-build.in
compile local-model requirements/local-model.in --constraint requirements/local-model-build.lock
