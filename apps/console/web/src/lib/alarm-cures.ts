import type { AlarmName } from '@packhouse/pipeline';
import { toHref } from './route.js';

/** Where something is mended. */
export interface Cure {
  label: string;
  href: string;
}

const nodes = (network: string): Cure => ({ label: 'View nodes', href: toHref('nodes', { network }) });
const files = (network: string): Cure => ({ label: 'View files', href: toHref('files', { network }) });

/** Where the cause of each alarm is mended; null: its message says what to do, outside of the console. */
export const ALARM_CURES: Readonly<Record<AlarmName, ((network: string) => Cure) | null>> = {
  BUNDLE_DAMAGED: files,
  FIELDS_UNKNOWN: null,
  FORK_UNKNOWN: (network) => ({
    label: 'View blocks',
    href: toHref('quarantine', { network, cause: 'FORK_UNKNOWN' }),
  }),
  HOOK_QUARANTINED: (network) => ({ label: 'View webhooks', href: toHref('hooks', { network }) }),
  LAKE_INCOMPLETE: files,
  MANIFEST_REWOUND: null,
  NODES_DISAGREE: nodes,
  NODES_SILENT: nodes,
  NODE_ANSWER_FALSE: nodes,
  NOTIFICATIONS_FAILING: () => ({ label: 'View channels', href: toHref('notifications') }),
  OBJECT_STORE_INVALID: null,
  REORG_BELOW_FINALITY: null,
  STANDSTILL: () => ({ label: 'View workers', href: toHref('workers') }),
};

/** Where the cause of an alarm is mended; null: its message says what to do, or it is of another version. */
export function getAlarmCure(name: string, network: string): Cure | null {
  return (
    (ALARM_CURES as Readonly<Record<string, ((network: string) => Cure) | null>>)[name]?.(network) ?? null
  );
}
