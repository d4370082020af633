// Programs of others that some tests run beside: compiled or fetched once, by `npm run nightly`, and kept between runs.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const CACHE = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
/** Where they are. A test finds them on PATH, and is skipped without its program. */
export const programs = process.env.TEST_PROGRAMS || path.join(CACHE, 'packhouse', 'test-programs');

const MOTO = ['moto==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5', 'PyYAML', 'py-partiql-parser'];
const S3PROXY = '2.6.0';
/** Engines that read the lake. DuckDB loads extensions of exactly its version. */
const ENGINES = [
  'pyiceberg[pyarrow]==0.12.0',
  'polars==2.1.0',
  'pyspark==3.5.6',
  'chdb==4.4.0',
  'duckdb==1.5.5',
  ...['avro', 'httpfs', 'iceberg'].map((name) => `duckdb-extension-${name}==1.5.5`),
];
/** What Spark loads, as docs/lake.md says. */
const SPARK_JARS = ['iceberg-spark-runtime-3.5_2.12', 'iceberg-aws-bundle'].map(
  (name) => `org.apache.iceberg:${name}:1.10.1`,
);

/** `make` gets the folder of the programs; false: it cannot be had on this machine. */
const PROGRAMS = [
  { name: 'geth', make: (to) => goInstall(to, 'github.com/ethereum/go-ethereum/cmd/geth@v1.17.8') },
  { name: 'versitygw', make: (to) => goInstall(to, 'github.com/versity/versitygw/cmd/versitygw@v1.8.0') },
  { name: 'moto_server', make: makeMoto },
  { name: 's3proxy', make: makeS3Proxy },
  { name: 'lake-python', make: makeLakePython },
];

/** Installs what is missing, and returns the names of what could not be installed. */
export function installTestPrograms(say) {
  mkdirSync(programs, { recursive: true });
  return PROGRAMS.filter(({ name, make }) => {
    if (existsSync(path.join(programs, name))) return false;
    say(`Installing ${name} into ${programs} …`);
    return !make(programs) || !existsSync(path.join(programs, name));
  }).map(({ name }) => name);
}

function goInstall(to, program) {
  return run('go', ['install', program], { GOBIN: to, CGO_ENABLED: '0' });
}

function makeMoto(to) {
  const python = path.join(to, 'moto');
  if (!run('python3', ['-m', 'venv', python])) return false;
  if (!run(path.join(python, 'bin', 'pip'), ['install', '-q', '--no-compile', ...MOTO])) return false;
  symlinkSync(path.join(python, 'bin', 'moto_server'), path.join(to, 'moto_server'));
  return true;
}

function makeS3Proxy(to) {
  const jars = path.join(to, 's3proxy-jars');
  rmSync(jars, { recursive: true, force: true });
  mkdirSync(jars);
  const pom = path.join(jars, 'pom.xml');
  writeFileSync(
    pom,
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>test</artifactId><version>1</version><dependencies><dependency><groupId>org.gaul</groupId><artifactId>s3proxy</artifactId><version>${S3PROXY}</version></dependency></dependencies></project>`,
  );
  const copy = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!run('mvn', copy)) return false;
  // It logs every byte otherwise.
  writeFileSync(path.join(jars, 'logback.xml'), '<configuration><root level="OFF"/></configuration>');
  writeProgram(path.join(to, 's3proxy'), `exec java -cp '${jars}/*:${jars}' org.gaul.s3proxy.Main "$@"`);
  return true;
}

/** A Python with the engines that read the lake; without Maven it lacks Spark's part for Iceberg. */
function makeLakePython(to) {
  const home = path.join(to, 'lake-engines');
  rmSync(home, { recursive: true, force: true });
  if (!run('python3', ['-m', 'venv', home])) return false;
  if (!run(path.join(home, 'bin', 'pip'), ['install', '-q', '--no-compile', ...ENGINES])) return false;
  const where = ['-c', 'import pyspark; print(pyspark.__path__[0])'];
  const { stdout } = spawnSync(path.join(home, 'bin', 'python'), where, { encoding: 'utf8' });
  const jars = path.join(stdout.trim(), 'jars');
  for (const artifact of SPARK_JARS)
    run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${jars}`]);
  writeProgram(path.join(to, 'lake-python'), `exec '${home}/bin/python' "$@"`);
  return true;
}

function writeProgram(file, line) {
  writeFileSync(`${file}.new`, `#!/bin/sh\n${line}\n`);
  chmodSync(`${file}.new`, 0o755);
  renameSync(`${file}.new`, file);
}

function run(command, args, env = {}) {
  return spawnSync(command, args, { stdio: ['ignore', 2, 2], env: { ...process.env, ...env } }).status === 0;
}
