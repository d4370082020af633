/** An alarm: how urgent it is (the alerts for Prometheus say the same), and how it ends. */
interface AlarmKind {
  /** `critical` breaks through quiet hours. */
  severity: 'critical' | 'warning';
  /** `itself`: cleared when the cause is gone; `operator`: somebody looks, and clears it. */
  ends: 'itself' | 'operator';
}

/** Every alarm that a process raises. */
export const ALARMS = {
  BUNDLE_DAMAGED: { severity: 'critical', ends: 'itself' },
  FIELDS_UNKNOWN: { severity: 'warning', ends: 'operator' },
  FORK_UNKNOWN: { severity: 'critical', ends: 'itself' },
  HOOK_QUARANTINED: { severity: 'warning', ends: 'itself' },
  LAKE_INCOMPLETE: { severity: 'warning', ends: 'itself' },
  MANIFEST_REWOUND: { severity: 'critical', ends: 'itself' },
  NODES_DISAGREE: { severity: 'warning', ends: 'operator' },
  NODES_SILENT: { severity: 'critical', ends: 'itself' },
  NODE_ANSWER_FALSE: { severity: 'warning', ends: 'operator' },
  NOTIFICATIONS_FAILING: { severity: 'critical', ends: 'itself' },
  OBJECT_STORE_INVALID: { severity: 'critical', ends: 'itself' },
  REORG_BELOW_FINALITY: { severity: 'critical', ends: 'operator' },
  STANDSTILL: { severity: 'critical', ends: 'itself' },
} as const satisfies Readonly<Record<string, AlarmKind>>;

export type AlarmName = keyof typeof ALARMS;

/** How an alarm ends; null: it is of another version. */
export const getAlarmEnd = (name: string): AlarmKind['ends'] | null =>
  name in ALARMS ? ALARMS[name as AlarmName].ends : null;
