import { OPERATIONS, type OperationParts, readInput } from '@packhouse/operations';
import type { FastifyInstance } from 'fastify';
import type { Access } from '../access/access.js';
import { describeApi } from './openapi.js';

/** Serves all operations below /api/, and /api/openapi.json, which describes them. */
export function addOperationRoutes(
  app: FastifyInstance,
  parts: Omit<OperationParts, 'who'>,
  access: Access,
): void {
  for (const operation of OPERATIONS) {
    app.route({
      method: operation.kind === 'read' ? 'GET' : 'POST',
      url: `/api/${operation.name}`,
      handler: async (request) => {
        const { name } = await access.require(request, operation.role);
        const input = readInput(operation.input, operation.kind === 'read' ? request.query : request.body);
        const result = await operation.run({ ...parts, who: name }, input);
        return result ?? {};
      },
    });
  }
  const description = describeApi();
  app.get('/api/openapi.json', async () => description);
}
