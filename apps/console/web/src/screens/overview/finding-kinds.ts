import type { Answer } from '../../lib/answers.js';

export type Finding = Answer<'findings'>[number];

/** How each kind looks, and in a few words what it is. */
export const FINDINGS: Readonly<Record<Finding['kind'], readonly [tone: 'bad' | 'wait', words: string]>> = {
  'nodes-silent': ['bad', 'No node answers'],
  'no-ingester': ['bad', 'No ingester'],
  'wrong-answer': ['bad', 'Wrong response'],
  alarm: ['bad', 'Alarm'],
  quarantine: ['wait', 'In quarantine'],
  budget: ['wait', 'Budget used up'],
  'key-expires': ['wait', 'Key expires'],
  paused: ['wait', 'Backfill paused'],
};
