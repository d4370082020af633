import { OPERATIONS, type Operation, type OperationParts, readInput } from '@packhouse/operations';
import type { FastifyInstance } from 'fastify';
import type { Access } from '../access/access.js';
import { describeApi } from './openapi.js';
import { createSharedAnswers } from './shared-answers.js';

/** Serves all operations below /api/, and /api/openapi.json, which describes them. */
export function addOperationRoutes(
  app: FastifyInstance,
  parts: Omit<OperationParts, 'actor'>,
  access: Access,
): void {
  const shared = createSharedAnswers(parts.context.clock);
  for (const operation of OPERATIONS as readonly Operation[]) {
    app.route({
      method: operation.kind === 'read' ? 'GET' : 'POST',
      url: `/api/${operation.name}`,
      handler: async (request, reply) => {
        const {
          name: actor,
          keyId,
          role,
        } = await access.require(request, operation.role, {
          owners: operation.owners,
        });
        const input = readInput(operation.input, operation.kind === 'read' ? request.query : request.body);
        const run = async (): Promise<string> =>
          JSON.stringify((await operation.run({ ...parts, actor, keyId, role }, input)) ?? {});
        const { name, sharedForMs } = operation;
        reply.type('application/json; charset=utf-8');
        if (operation.kind === 'change') {
          // Also if it fails: a part of it may be done.
          return run().finally(shared.clear);
        }
        if (sharedForMs === undefined) return run();
        // Each owner has answers of their own; all others have the same.
        const whose = role === 'owner' ? `${keyId ?? ''} ${actor}` : '';
        return shared.get(JSON.stringify([whose, name, input]), sharedForMs, run);
      },
    });
  }
  const description = describeApi();
  app.get('/api/openapi.json', async () => description);
}
