/** Addresses of one network at the gateway. */
export interface Addresses {
  gateway: string;
  /** Ends in `/v1/`. */
  baseUrl: string;
  downloadUrl: string;
}

/** The addresses of a network behind a gateway on this machine. */
export function addressesOf(port: number, network: string): Addresses {
  const gateway = `http://127.0.0.1:${port}`;
  return { gateway, baseUrl: `${gateway}/${network}/v1/`, downloadUrl: `${gateway}/${network}/files` };
}

/** The lines that a newcomer pastes: the pointer of a block, its download, the pointer of a block that is still new. */
export function curlLines(request: {
  addresses: Addresses;
  apiKey: string;
  kind: string;
  /** A published bundle. */
  published: { start: number; end: number };
  /** A block that is not packed yet, where there is one. */
  newBlock: number | null;
}): string[] {
  const { addresses, apiKey, kind, published, newBlock } = request;
  const pointer = (block: number): string =>
    `curl -s ${addresses.baseUrl}${apiKey}/bundle-api/${kind}/${block}`;
  const lines = [
    '',
    `API key: ${apiKey}`,
    '',
    '# the pointer of a block: which file holds it',
    pointer(published.start),
    '# its download',
    `curl -s -H 'Authorization: Bearer ${apiKey}' ${addresses.downloadUrl}/${kind}/${published.start}-${published.end}.json.gz | gunzip | head -c 600`,
  ];
  if (newBlock !== null) lines.push('# the pointer of a block that is still new', pointer(newBlock));
  return [...lines, ''];
}
