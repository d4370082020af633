/** A file for systemd; `path` is below /etc. */
export interface SystemdFile {
  path: string;
  text: string;
}

/** What units run: the Node of this process, and the main.js of this program. */
interface Program {
  node: string;
  main: string;
  version: string;
}

interface Role {
  title: string;
  /** Several may run on a machine: the unit is a template, and its instances are named 1 to 9. */
  several: boolean;
  /** `%i` is the instance. */
  metricsPort: string;
  memoryMax: string;
  /** Lines that only this role has. */
  service: readonly string[];
}

const STATE = '/var/lib/packhouse';
/** The signing key, and an OBJECT_STORE on disk, which is opened for writing even to read it. */
const WRITES = `ReadWritePaths=${STATE}`;

/**
 * The roles. The limits of memory are what the defaults of the settings need with room to spare: half of it becomes the
 * heap of V8 (see "Budgets of a gateway" in docs/operating.md, and "Little memory" in docs/measurements.md).
 */
const ROLES: Readonly<Record<string, Role>> = {
  gateway: {
    title: 'gateway',
    several: false,
    metricsPort: '9300',
    memoryMax: '4G',
    service: [WRITES, '# A worker that the kernel ends is replaced by its primary.', 'OOMPolicy=continue'],
  },
  console: { title: 'console', several: false, metricsPort: '9310', memoryMax: '1G', service: [WRITES] },
  ingester: { title: 'ingester', several: true, metricsPort: '932%i', memoryMax: '3G', service: [] },
  packer: {
    title: 'packer',
    several: true,
    metricsPort: '933%i',
    memoryMax: '2G',
    service: [`Environment=SIGNING_KEY_FILE=${STATE}/signing-key.pem`, WRITES],
  },
};

/**
 * What a unit may not do. Scored by `systemd-analyze security` in the test beside. MemoryDenyWriteExecute is missing
 * because V8 writes machine code; limits of addresses, because nodes, Postgres and clients are anywhere.
 */
const HARDENING = `NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
UMask=0077
LimitCORE=0`;

/** The units, the user and the folders. */
export function systemdFiles(program: Program): SystemdFile[] {
  const unit = (name: string, text: string): SystemdFile => ({
    path: `systemd/system/${name}`,
    text: `# Packhouse ${program.version}. Change it by a drop-in: systemctl edit ${name}\n${text}`,
  });
  return [
    unit('packhouse.target', target()),
    unit('packhouse-migrate.service', migrateUnit(program)),
    ...Object.entries(ROLES).map(([name, role]) =>
      unit(`packhouse-${name}${role.several ? '@' : ''}.service`, roleUnit(program, name, role)),
    ),
    {
      path: 'sysusers.d/packhouse.conf',
      text: `u packhouse - "Packhouse" ${STATE}\n`,
    },
    {
      path: 'tmpfiles.d/packhouse.conf',
      text: `d /etc/packhouse 0750 root packhouse
# Settings, one NAME=value per line. Only systemd reads them and the address of Postgres.
f /etc/packhouse/packhouse.env 0600 root root
f /etc/packhouse/database-url 0600 root root
d ${STATE} 0700 packhouse packhouse
`,
    },
  ];
}

function target(): string {
  return `[Unit]
Description=Packhouse
Wants=network-online.target
After=network-online.target

[Install]
WantedBy=multi-user.target
`;
}

/** What every unit has. */
function common({ node, main }: Program, command: string): string {
  return `User=packhouse
Group=packhouse
WorkingDirectory=${STATE}
Environment=NETWORKS_FILE=/etc/packhouse/networks.yaml
EnvironmentFile=-/etc/packhouse/packhouse.env
# A copy in memory that only this unit can read.
LoadCredential=database-url:/etc/packhouse/database-url
Environment=DATABASE_URL_FILE=%d/database-url
ExecStart=${quoted(node)} ${quoted(main)} ${command}`;
}

function migrateUnit(program: Program): string {
  return `[Unit]
Description=Packhouse schema migration
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
Type=oneshot
${common(program, 'migrate')}
TimeoutStartSec=infinity
${HARDENING}
`;
}

function roleUnit(program: Program, name: string, role: Role): string {
  const instance = role.several ? ' %i' : '';
  return `[Unit]
Description=Packhouse ${role.title}${instance}
PartOf=packhouse.target
Wants=network-online.target
After=network-online.target postgresql.service redis-server.service packhouse-migrate.service
# Gives up only after half an hour of failures: Postgres may start later.
StartLimitIntervalSec=1h
StartLimitBurst=180

[Service]
# systemd-notify reports readiness. The first start may wait a minute for packhouse-migrate.
Type=notify
NotifyAccess=all
TimeoutStartSec=180
Environment=METRICS_PORT=${role.metricsPort}
${common(program, name)}
# SIGTERM to the main process drains; DRAIN_LIMIT_MS is 25 s. 75: something was cut off.
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=30
SuccessExitStatus=75 143
# A restart corrects neither a command line (64) nor settings (78).
Restart=always
RestartSec=10
RestartPreventExitStatus=64 78
MemoryMax=${role.memoryMax}
TasksMax=512
LimitNOFILE=65536
${[...role.service, HARDENING].join('\n')}

[Install]
WantedBy=packhouse.target
${role.several ? 'DefaultInstance=1\n' : ''}`;
}

/** A word of a command line; systemd has `%`, `$`, quotes and blanks of its own. */
function quoted(word: string): string {
  const escaped = word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"'\\;]/.test(word) ? `"${escaped}"` : escaped;
}
