import { parentPort } from 'node:worker_threads';
import { createKeccak256 } from '../encode/keccak.js';
import { createRecoverKey } from '../encode/recover-key.js';
import { findFalseSenders, type SignatureRows } from '../prove/signature-rows.js';

// The program of a thread: it answers each block's rows with the false senders among them, in their order.
const tools = createKeccak256().then((keccak) => ({ keccak, recoverKey: createRecoverKey() }));
parentPort?.on('message', async (rows: SignatureRows) => {
  parentPort?.postMessage(findFalseSenders(await tools, rows));
});
