import type { KeyRow } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { FastifyReply } from 'fastify';
import type { Admission } from '../auth/admission.js';
import type { Visit } from '../server/visit.js';

/** Admits the holder of a key to a network and notes both in the visit. Throws what `Admission.admit` throws. */
export function admitVisit(
  admission: Admission,
  key: string | undefined,
  network: Network,
  visit: Visit,
  reply: FastifyReply,
): Promise<KeyRow> {
  visit.network = network.id;
  return admission.admit(key, {
    network: network.id,
    identified: (prefix) => {
      visit.prefix = prefix;
    },
    header: (name, value) => {
      reply.header(name, value);
    },
  });
}
