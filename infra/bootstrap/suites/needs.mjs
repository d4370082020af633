// What some tests need beside Node. The title of such a test, or of its group, ends with `(needs NAME)`.

/** By the name in the titles: the line that gets it, or what to do. */
export const NEEDS = {
  RECORDINGS: 'RECORDINGS=folder npm test; npm run record makes the folder from an archive node',
  'npm run test:all': 'npm run test:all',
  'npm run nightly': 'npm run nightly',
  'redis-server': 'apt-get install redis-server',
  pgbouncer: 'apt-get install pgbouncer',
  chromium: 'apt-get install chromium',
  python3: 'apt-get install python3',
  bash: 'apt-get install bash',
  zsh: 'apt-get install zsh',
  fish: 'apt-get install fish',
  groff: 'apt-get install groff',
  man: 'apt-get install man-db',
  gzip: 'apt-get install gzip',
  jq: 'apt-get install jq',
  psql: 'apt-get install postgresql-client',
  openssl: 'apt-get install openssl',
  perl: 'apt-get install perl',
  systemd: 'apt-get install systemd',
  prometheus: 'apt-get install prometheus',
  wrk: 'apt-get install wrk',
  polars: 'pip install polars',
  pandas: 'pip install pandas pyarrow',
  pyarrow: 'pip install pyarrow',
  pyspark: 'pip install pyspark',
  duckdb: 'pip install duckdb duckdb-extension-avro duckdb-extension-httpfs duckdb-extension-iceberg',
  'test/clients/libraries':
    'npm ci --prefix test/clients/libraries; NODE_PATH=$PWD/test/clients/libraries/node_modules',
  kustomize: 'go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.0',
  'kubernetes-validate': 'pip install kubernetes-validate',
  helm: 'go install helm.sh/helm/v3/cmd/helm@v3.19.0',
  buildah: 'apt-get install buildah',
  mmdebstrap: 'apt-get install mmdebstrap',
  geth: 'npm run nightly, which compiles it',
  versitygw: 'npm run nightly, which compiles it',
  moto_server: 'npm run nightly, which installs it',
  s3proxy: 'npm run nightly, which installs it',
  pyiceberg: 'npm run nightly, which installs it',
  spark: 'npm run nightly, which installs it',
  clickhouse: 'npm run nightly, which installs it',
  'bullmq-otel': 'npm ci --include=dev',
  S3_TEST_ENDPOINT: 'S3_TEST_ENDPOINT=address of an empty S3 bucket',
  PARTITION_SECONDS: 'PARTITION_SECONDS=120',
  PICTURES: 'PICTURES=folder for them',
  'FIRST_PAGE=on': 'FIRST_PAGE=on',
  root: 'run it as root, on Linux',
  mount: 'run it where root may mount',
  setpriv: 'run it on Linux',
  unshare: 'run it on Linux',
  'network namespaces': 'run it as root on Linux, with iproute2 and iptables',
  'another user than root': 'run it as another user than root',
  Linux: 'run it on Linux',
  '/dev/full': 'run it on Linux',
  'a store that compares': 'other stores are tried with it',
  'no @duckdb/node-api': 'run it without NODE_PATH',
  UPGRADE_FROM: 'UPGRADE_FROM=folder of an older checkout that is built',
};

/** What the title of a test needs, in its words; undefined if it names nothing of the table. */
export function readNeed(fullName) {
  const need = /.*\(needs ([^()]+)\)/s.exec(fullName)?.[1];
  return need !== undefined && namesOf(need).every((name) => name in NEEDS) ? need : undefined;
}

/** The lines that get what a need names. */
export function toInstall(need) {
  return [...new Set(namesOf(need).map((name) => NEEDS[name]))].join('; ');
}

function namesOf(need) {
  return need.split(/, | and /);
}
