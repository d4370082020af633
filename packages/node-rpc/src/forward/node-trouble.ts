/**
 * What an HTTP status says of the node rather than of the call, whatever the body: it is `busy` and wants a pause, it
 * `refused` the gateway's credentials or account, or it is `broken`; null: the body tells.
 */
export function nodeTrouble(status: number): 'busy' | 'refused' | 'broken' | null {
  if (status === 429 || status === 503) return 'busy';
  if (status === 401 || status === 402 || status === 403 || status === 407) return 'refused';
  return status === 408 || status >= 500 ? 'broken' : null;
}
