import type { RequestListener } from 'node:http';
import type { Router } from '../http/router.js';
import type { ServedNetwork } from './served-network.js';

/**
 * The networks of one version of the networks file, with their routes. A changed file makes the next generation behind
 * the same server. Requests in progress finish on the generation that received them.
 */
export interface Generation {
  readonly networks: readonly ServedNetwork[];
  /** Answers a request of the server. */
  readonly answer: RequestListener;
  /** Call it when no more requests will come. `release` is called once all requests are answered. */
  retire(): void;
}

/** Creates a generation; `release` is called once, after `retire`. */
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
