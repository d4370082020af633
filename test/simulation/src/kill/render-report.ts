import { toTable } from '@packhouse/rig';
import { ROLES } from './plan-kills.js';
import type { KillReport } from './report.js';

const COLUMNS = ['KILLED', 'TIMES', 'STARTING', 'MOST BLOCKS FETCHED AGAIN', 'LONGEST OUTAGE'];

/** The report for people. */
export function renderReport(report: KillReport): string {
  const { client, machine, published, seconds } = report;
  const rows = [
    COLUMNS,
    ...ROLES.map((role) => {
      const { kills, starting, mostRefetched, longestOutageSeconds } = report.byRole[role];
      return [role, `${kills}`, `${starting}`, `${mostRefetched}`, `${longestOutageSeconds.toFixed(1)} s`];
    }),
  ];
  return [
    toTable(rows),
    '',
    `seed ${report.seed}, ${report.kills} kills, ${report.blocks} blocks of five kinds on ${machine.cores} cores (${machine.cpu}), Node ${machine.node}`,
    `published: ${published.bundles} bundles, ${published.records} records, ${(published.bytes / 1e6).toFixed(1)} MB`,
    `fetched: ${report.fetches} blocks, ${report.refetched} of them again; because of one kill at most ${report.mostRefetched}, of at most ${report.mostJobsRedone} jobs (${report.job.atATime} run at a time), at most ${report.mostRefetchedOfAJob} of one job's ${report.job.blocks}`,
    `client: ${client.requests} requests, ${client.failed} without an answer, ${client.pointers} pointers, ${client.links} links followed at the end, longest outage ${report.longestOutageSeconds.toFixed(1)} s`,
    `time: ${seconds.underKills.toFixed(0)} s under kills, ${seconds.toFinish.toFixed(0)} s to finish, ${seconds.whole.toFixed(0)} s with all checks; packhouse local was started ${report.starts} times`,
    report.violations.length === 0 ? 'violations: none' : `violations: ${report.violations.length}`,
    ...report.violations.map((violation) => `  ${violation}`),
    '',
  ].join('\n');
}
