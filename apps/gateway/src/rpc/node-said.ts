/** A node's own error, to be handed on as it is. */
export class NodeSaid extends Error {
  readonly error: Buffer;

  constructor(error: Buffer) {
    super('a node answered with an error');
    this.error = error;
  }
}
