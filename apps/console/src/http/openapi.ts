import { OPERATIONS, type Operation } from '@packhouse/operations';
import { z } from 'zod';

/** The operations as an OpenAPI 3.1 document. */
export function describeApi(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Packhouse console',
      version: '1',
      description:
        'What operators can read and change. Sign in with a token: `Authorization: Bearer TOKEN`. Errors are `{"error": {"code", "message", "hint", "data"}}`.',
    },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: Object.fromEntries(OPERATIONS.map((operation) => [`/api/${operation.name}`, getPath(operation)])),
  };
}

function getPath({ name, kind, role, summary, input }: Operation): object {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const { properties = {}, required = [] } = schema;
  const described = {
    operationId: name.replace(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    description: `Requires the role ${role}.`,
    responses: { 200: { description: 'The result.', content: { 'application/json': {} } } },
  };
  if (kind === 'read') {
    const parameters = Object.entries(properties).map(([field, shape]) => ({
      name: field,
      in: 'query',
      required: required.includes(field),
      schema: shape,
    }));
    return { get: { ...described, parameters } };
  }
  return {
    post: { ...described, requestBody: { required: true, content: { 'application/json': { schema } } } },
  };
}
