import { PackhouseError } from './errors.js';

/**
 * Makes sure that this Node has WebAssembly: the hash, undici's HTTP parser and so `fetch` are such. It has none with
 * `--jitless`, and where the system forbids programs to make code. SIMD is not needed: what uses it does without.
 *
 * @throws PackhouseError NODE_JS_UNUSABLE
 */
export function requireWebAssembly(): void {
  if ('WebAssembly' in globalThis) return;
  throw new PackhouseError({
    code: 'NODE_JS_UNUSABLE',
    message: 'This Node.js runs without WebAssembly, which hashes and HTTP need.',
    hint: 'Start it without --jitless.',
  });
}
