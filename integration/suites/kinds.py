"""How a suite comes from its package into a folder of its own, and what runs it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import results

HERE = pathlib.Path(__file__).resolve().parent
STANDINS = HERE / "standins"


def call(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Suite:
    """One library's tests. A kind says how they are fetched and which command runs
    them; told is the entry of suites.json."""

    def __init__(self, told, work):
        self.told = told
        self.name, self.package, self.version = told["name"], told["package"], told["version"]
        self.needs, self.tests, self.options = (told.get(k, []) for k in ("needs", "tests", "options"))
        self.no_expiry = told.get("no_expiry", "reject")
        self.home = work / re.sub(r"\W+", "-", self.name)
        self.source = self.home / "source"
        self.folder = self.source / told.get("folder", "")

    def fetch(self):
        pin = self.home / "fetched"
        if pin.exists() and pin.read_text() == json.dumps(self.told):
            return
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.get()
        pin.write_text(json.dumps(self.told))

    def helps(self, target):
        """What the runner loads besides, to put redlockd in a state that tests ask for
        by commands which it does not serve."""
        return self.told.get("helps", []) if target == "redlockd" else []

    def run(self, target, binary):
        """The tests by name, each with how it ended and what it said."""
        self.fetch()
        command, read = self.command(target)
        env = dict(os.environ, PYTHONPATH=str(STANDINS), NODE_PATH=str(self.home / "node_modules"), SUITE_TARGET=target,
                   SUITE_REDLOCKD=str(binary), SUITE_HOME=str(self.home), SUITE_NO_EXPIRY=self.no_expiry,
                   SUITE_CLUSTERS=str(-(-self.told.get("servers", 1) // 16)), SUITE_HOSTS=" ".join(self.told.get("hosts", [])))
        # The namespaces end with their first process, and all that runs in them.
        inside = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", HERE / "inside.sh"]
        try:
            done = subprocess.run([str(c) for c in [*inside, *command]], cwd=self.folder, env=env,
                                  capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{self.name}, {target}: not done after 900 s") from None
        found = read(done.stdout)
        if not found:
            raise RuntimeError(f"{self.name}, {target}: no results\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return found


class Pytest(Suite):
    """A source distribution of PyPI."""

    def get(self):
        call(sys.executable, "-m", "venv", self.home / "venv")
        pip = [self.home / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call(*pip, "download", "--no-deps", "--no-binary", self.package, "-d", self.home, f"{self.package}=={self.version}")
        with tarfile.open(next(self.home.glob("*.tar.gz"))) as archive:
            archive.extractall(self.home / "sdist", filter="data")
        next((self.home / "sdist").iterdir()).rename(self.source)
        call(*pip, "install", f"{self.package}=={self.version}", *self.needs)

    def command(self, target):
        report = self.home / f"{target}.xml"
        report.unlink(missing_ok=True)
        helps = [part for name in self.helps(target) for part in ("-p", name)]
        return [self.home / "venv/bin/python", "-m", "pytest", *helps, "-q", "-p", "no:cacheprovider",
                f"--junitxml={report}", *self.options, *self.tests], lambda _: results.junit(report)


class Go(Suite):
    """A module of Go: the tests of one folder, of which "tests" are kept."""

    def get(self):
        told = json.loads(call("go", "mod", "download", "-json", f"{self.package}@{self.version}", cwd=HERE))
        shutil.copytree(told["Dir"], self.source)
        for path in [self.source, *self.source.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        for path in self.folder.glob("*_test.go") if self.tests else []:
            if path.name not in self.tests:
                path.unlink()
        for name, ours in self.told.get("adds", {}).items():
            shutil.copy(STANDINS / ours, self.folder / name)
        call("go", "test", "-c", "-o", self.home / "suite.test", ".", cwd=self.folder)

    def command(self, target):
        return ["go", "tool", "test2json", "-t", self.home / "suite.test", "-test.v=test2json", "-test.timeout=600s"], results.gotest


class Mocha(Suite):
    """A package of npm whose tests run in mocha."""

    def get(self):
        self.source.mkdir()
        packed = call("npm", "pack", "--silent", f"{self.package}@{self.version}", cwd=self.home).split()[-1]
        call("tar", "xzf", self.home / packed, "--strip-components=1", "-C", self.source)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
        call(*install, "--omit=dev", cwd=self.source)
        call(*install, "--prefix", self.home, *self.needs, cwd=self.home)

    def command(self, target):
        helps = [part for name in self.helps(target) for part in ("--require", STANDINS / name)]
        return [self.home / "node_modules/.bin/mocha", "--exit", *helps, "--timeout", "20000", "--reporter", "json",
                *self.tests], results.mocha


class Cargo(Suite):
    """A crate, some of whose dependencies are replaced by stand-ins of ours."""

    def get(self):
        asks = self.home / "asks"
        (asks / "src").mkdir(parents=True)
        (asks / "src/lib.rs").touch()
        (asks / "Cargo.toml").write_text('[package]\nname = "asks"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
                                         f'{self.package} = "={self.version}"\n\n[workspace]\n')
        told = json.loads(call("cargo", "metadata", "--format-version", "1", cwd=asks))
        manifest = next(p["manifest_path"] for p in told["packages"] if p["name"] == self.package)
        shutil.copytree(pathlib.Path(manifest).parent, self.source)
        patches = [f'{name} = {{ path = "{STANDINS / name}" }}' for name in self.told.get("patches", [])]
        with (self.source / "Cargo.toml").open("a") as file:
            file.write("\n".join(["", "[patch.crates-io]", *patches, "", "[workspace]", ""]))
        built = call("cargo", "test", "--lib", "--no-run", "--message-format", "json", *self.options, cwd=self.source)
        said = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
        shutil.copy(next(s["executable"] for s in said if s.get("executable")), self.home / "suite.test")

    def command(self, target):
        return [self.home / "suite.test", "--test-threads", "2"], results.rusttest


class JUnit(Suite):
    """Tests in a package of Maven, and a project of ours that says what they run on."""

    def get(self):
        shutil.copytree(STANDINS / self.told["project"], self.source)
        call("mvn", "-q", "-B", f"-Dsuite.version={self.version}", "compile", "dependency:build-classpath",
             f"-Dmdep.outputFile={self.home / 'classpath'}", cwd=self.source)

    def command(self, target):
        reports = self.home / f"{target}-reports"
        shutil.rmtree(reports, ignore_errors=True)
        path = f"{self.source / 'target/classes'}:{(self.home / 'classpath').read_text().strip()}"
        return ["java", "-cp", path, "org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner",
                "--reports-dir", reports, *(f"--select-class={name}" for name in self.tests)
                ], lambda _: results.junit(reports / "TEST-junit-jupiter.xml")


class Debian(Suite):
    """A source package of Debian with tests for PHPUnit; "needs" are Debian's too."""

    def get(self):
        root = ["sudo"] if os.geteuid() else []
        call(*root, "apt-get", "update", "-qq")
        call(*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends", *self.needs)
        targets = call("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages")
        (self.home / "sources").write_text("".join(f"deb-src {line}\n" for line in sorted(set(targets.splitlines()))))
        (self.home / "lists/partial").mkdir(parents=True)
        own = ["-qq", "-o", f"Dir::Etc::sourcelist={self.home}/sources", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State::lists={self.home}/lists"]
        call("apt-get", *own, "update", cwd=self.home)
        call("apt-get", *own, "source", "--download-only", f"{self.package}={self.version}", cwd=self.home)
        self.source.mkdir()
        call("tar", "xf", next(self.home.glob("*.orig.tar.*")), "--strip-components=1", "-C", self.source)

    def command(self, target):
        report = self.home / f"{target}.xml"
        report.unlink(missing_ok=True)
        tests = self.home / "phpunit.xml"
        files = "".join(f"<file>{self.source / test}</file>" for test in self.tests)
        tests.write_text(f'<phpunit><testsuites><testsuite name="locks">{files}</testsuite></testsuites></phpunit>')
        return ["phpunit", "--configuration", tests, "--bootstrap", STANDINS / "laravel.php", "--log-junit", report
                ], lambda _: results.junit(report)


KINDS = {"pytest": Pytest, "go": Go, "mocha": Mocha, "cargo": Cargo, "junit": JUnit, "debian": Debian}
