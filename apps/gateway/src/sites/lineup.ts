import type { RequestListener } from 'node:http';
import type { Router } from '../http/router.js';
import type { Site } from './site.js';

/**
 * The networks of one state of the networks file, with the routes that they have. A changed file makes the next one,
 * behind the same server: requests that are under way end on the one that they came to.
 */
export interface Lineup {
  readonly sites: readonly Site[];
  /** Answers a request of the server. */
  readonly answer: RequestListener;
  /** Nothing new comes; what it holds is let go when all that came is answered. */
  retire(): void;
}

/** Makes it of its routes; `letGo` is called once, after `retire`. */
export function createLineup(router: Router, sites: readonly Site[], letGo: () => void): Lineup {
  let underWay = 0;
  let retired = false;
  const left = (): void => {
    underWay -= 1;
    if (retired && underWay === 0) letGo();
  };
  return {
    sites,
    answer(request, response) {
      underWay += 1;
      router(request, response, left);
    },
    retire() {
      if (retired) return;
      retired = true;
      if (underWay === 0) letGo();
    },
  };
}
