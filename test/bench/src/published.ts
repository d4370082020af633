import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import type { Program, Scope } from '@packhouse/local';
import { startNode, startReplay } from '@packhouse/rig';
import { type GatewayProcess, startGateway } from './gateway-process.js';
import { oneNetwork, openPlace } from './place.js';
import { publishTo } from './publish-all.js';
import type { Sample } from './sample.js';
import { stageChain } from './stage-chain.js';

/** A gateway over published blocks. */
export interface Published extends GatewayProcess {
  directory: string;
  /** The address of its Postgres. */
  databaseUrl: string;
  /** Of the files of the first kind. */
  links: string[];
}

/** Stages and publishes the blocks of a sample, and starts a gateway over them. */
export async function startPublished(
  scope: Scope,
  sample: Sample,
  blocks: number,
  kinds: readonly Kind[],
): Promise<Published> {
  const place = await openPlace(scope);
  const node = await startReplay(scope, [...sample.replayArgs, '--extend', String(blocks)]);
  const { network, file: networksFile } = oneNetwork(node.url);
  await stageChain(place, network, { from: node.first, to: node.last });
  const objects = path.join(place.directory, 'objects');
  await publishTo(objects, place, network, kinds);
  const gateway = await startGateway(scope, place, { networksFile, objects });
  const list = `${gateway.url}/ethereum/v1/${gateway.apiKey}/bundle-api/files?kind=${kinds[0]}&limit=10000`;
  const { files } = (await (await fetch(list)).json()) as { files: { link: string }[] };
  const links = files.map(({ link }) => gateway.url + new URL(link).pathname);
  return { ...gateway, directory: place.directory, databaseUrl: place.url, links };
}

/** Starts `packhouse pull` from it, which writes its events as JSON lines. */
export function startPull(
  scope: Scope,
  { url, apiKey, directory }: Published,
  args: readonly string[],
  cwd: string = directory,
): Program {
  const all = ['pull', `${url}/ethereum`, '--json', ...args];
  return startNode(scope, 'apps/cli/dist/main.js', all, { PACKHOUSE_API_KEY: apiKey }, { cwd });
}
