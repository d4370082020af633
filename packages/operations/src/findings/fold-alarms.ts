import type { AlarmRow } from '@packhouse/database';
import { type AlarmName, getAlarmEnd } from '@packhouse/pipeline';
import { getOrAdd } from '@packhouse/runtime';
import type { Finding } from './finding.js';

type IsSame = (finding: Finding, alarm: AlarmRow) => boolean;

/** Alarms of which a finding of the same network may say the cause. */
const SAME_CAUSE: Readonly<Partial<Record<AlarmName, IsSame>>> = {
  FORK_UNKNOWN: ({ cause }) => cause === 'FORK_UNKNOWN',
  NODES_SILENT: ({ kind }) => kind === 'nodes-silent',
  NODE_ANSWER_FALSE: ({ kind, upstreams = [] }, { data }) =>
    kind === 'wrong-answer' &&
    Array.isArray(data.upstreams) &&
    data.upstreams.some((name) => upstreams.includes(name)),
  STANDSTILL: ({ kind }) => kind === 'nodes-silent' || kind === 'no-ingester',
};

/**
 * Adds the alarms, so that each thing is listed once: an alarm of which a finding says the cause is named by that
 * finding, and one that is open with the same words in many networks is one finding.
 */
export function foldAlarms(findings: readonly Finding[], alarms: readonly AlarmRow[]): Finding[] {
  const named = findings.map((finding) => ({ ...finding, alarms: [...finding.alarms] }));
  const left = alarms.filter((alarm) => {
    const isSame = SAME_CAUSE[alarm.name as AlarmName];
    const found = named.find((finding) => finding.network === alarm.network && isSame?.(finding, alarm));
    found?.alarms.push(alarm.name);
    return found === undefined;
  });
  const groups = new Map<string, AlarmRow[]>();
  for (const alarm of left) {
    getOrAdd(groups, JSON.stringify([alarm.name, alarm.message]), () => []).push(alarm);
  }
  return [...named, ...[...groups.values()].flatMap(toFinding)];
}

function toFinding(rows: readonly AlarmRow[]): Finding[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { message, name, network } = first;
  return [
    {
      kind: 'alarm',
      network,
      message,
      detail: getAlarmEnd(name) === 'itself' ? 'Clears itself when the cause is gone.' : null,
      since: new Date(Math.min(...rows.map(({ raisedAt }) => raisedAt.getTime()))),
      until: null,
      alarms: [name],
      ...(rows.length > 1 ? { others: rows.length - 1 } : {}),
    },
  ];
}
