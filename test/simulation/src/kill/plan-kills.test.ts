import { expect, it } from 'vitest';
import { planKills, ROLES, type Role } from './plan-kills.js';

const counts = (kills: number, seed: number): Record<Role, number> => {
  const roles = planKills(kills, seed).map(({ role }) => role);
  return Object.fromEntries(
    ROLES.map((role) => [role, roles.filter((one) => one === role).length]),
  ) as Record<Role, number>;
};

it('the same seed plans the same kills, another one others', () => {
  expect(planKills(100, 7)).toEqual(planKills(100, 7));
  expect(planKills(100, 8)).not.toEqual(planKills(100, 7));
});

it.each([1, 2, 3])('every process has its share of a hundred, whatever the seed (%d)', (seed) => {
  expect(counts(100, seed)).toEqual({
    ingester: 24,
    packer: 20,
    gateway: 14,
    backend: 18,
    postmaster: 12,
    supervisor: 12,
  });
});

it('a handful hits each once', () => {
  expect(Object.values(counts(6, 5))).toEqual([1, 1, 1, 1, 1, 1]);
});

it('kills follow closely and after work, at once and after the orphans', () => {
  const kills = planKills(100, 1);
  for (const moment of ['soon', 'working']) {
    expect(kills.filter((kill) => kill.moment === moment).length).toBeGreaterThan(20);
  }
  for (const restart of ['at once', 'after the orphans']) {
    expect(kills.filter((kill) => kill.restart === restart).length).toBeGreaterThan(20);
  }
});
