import { number, text, time, windows } from '../../parts/form-fields.js';

/** The terms of a backfill. */
export const TERMS = {
  priority: number('Priority (1 is first)', { required: true, range: [1, 1000], initial: 100 }),
  owner: text('Owner (owners share a network equally)', {
    required: true,
    initial: 'default',
    maxLength: 64,
    pattern: '[a-z0-9][a-z0-9._\\-]*',
    title: 'lower-case letters, digits, dots, dashes and underscores',
  }),
  weight: number('Weight among equal priorities', { required: true, range: [1, 1000], initial: 1 }),
  deadline: time('Deadline (empty: none)', 'datetime-local'),
  maxRequests: number('Max requests to nodes (empty: unlimited)'),
  windows: windows(),
};
