import { seededRandom } from '@packhouse/local';

/** The processes of `packhouse local` that may be hit. */
export const ROLES = ['ingester', 'packer', 'gateway', 'backend', 'postmaster', 'supervisor'] as const;
export type Role = (typeof ROLES)[number];

/** One kill that is to come. */
export interface PlannedKill {
  role: Role;
  /**
   * `soon`: this long after the last kill, when things are still starting again; `working`: once the share of the
   * range that belongs to this kill is fetched, and this long after.
   */
  moment: 'soon' | 'working';
  delayMs: number;
  /** How long a process that has just appeared is left alive where the kill had to wait for one, in milliseconds. */
  graceMs: number;
  /** After the supervisor: start again at once, beside its orphans, or when they have ended by themselves. */
  restart: 'at once' | 'after the orphans';
}

/** How often each is hit, of a hundred kills: most often those that hold work. */
const SHARES: Readonly<Record<Role, number>> = {
  ingester: 24,
  packer: 20,
  gateway: 14,
  backend: 18,
  postmaster: 12,
  supervisor: 12,
};
const SOON_SHARE = 0.4;
const SOON_MS = 900;
const WORKING_MS = 1_500;
const GRACE_MS = 500;

/** Plans kills: every role in its share (each at least once where there are six), in an order of the seed's own. */
export function planKills(kills: number, seed: number): PlannedKill[] {
  const random = seededRandom(seed);
  const roles: Role[] = [];
  const due = Object.fromEntries(ROLES.map((role) => [role, 0])) as Record<Role, number>;
  while (roles.length < kills) {
    for (const role of ROLES) due[role] += SHARES[role];
    // Whoever waits longest for its share is next: the first six are six different ones.
    const fresh = ROLES.filter((role) => !roles.includes(role));
    const next = (fresh.length > 0 ? fresh : [...ROLES]).reduce((a, b) => (due[b] > due[a] ? b : a));
    due[next] -= 100;
    roles.push(next);
  }
  return random.shuffled(roles).map((role) => {
    const soon = random.unit() < SOON_SHARE;
    return {
      role,
      moment: soon ? 'soon' : 'working',
      delayMs: random.below(soon ? SOON_MS : WORKING_MS),
      graceMs: random.below(GRACE_MS),
      restart: random.unit() < 0.5 ? 'at once' : 'after the orphans',
    };
  });
}
