/*
 * The scanner: from a node's bytes to canonical texts, roots and checks, without objects. It may only agree or decline:
 * whatever it does not know goes to the prover in TypeScript, which has the last word and gives every error.
 */
export { region, reserve } from './memory';
