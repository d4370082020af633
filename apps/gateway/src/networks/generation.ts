import type { RequestListener } from 'node:http';
import type { Router } from '../http/router.js';
import type { ServedNetwork } from './served-network.js';

/**
 * The networks of one state of the networks file, with the routes that they have. A changed file makes the next one,
 * behind the same server: requests that are under way end on the one that they came to.
 */
export interface Generation {
  readonly networks: readonly ServedNetwork[];
  /** Answers a request of the server. */
  readonly answer: RequestListener;
  /** Nothing new comes; what it holds is released when all that came is answered. */
  retire(): void;
}

/** Makes it of its routes; `release` is called once, after `retire`. */
export function createGeneration(
  router: Router,
  networks: readonly ServedNetwork[],
  release: () => void,
): Generation {
  let underWay = 0;
  let retired = false;
  const left = (): void => {
    underWay -= 1;
    if (retired && underWay === 0) release();
  };
  return {
    networks,
    answer(request, response) {
      underWay += 1;
      router(request, response, left);
    },
    retire() {
      if (retired) return;
      retired = true;
      if (underWay === 0) release();
    },
  };
}
