import { makeFiles } from './write.js';

/** `main.js` writes the files of made blocks; `main.js --check` says whether they are what the program makes. */
const isCheck = process.argv.includes('--check');
for (const { name, blocks, bytes, same } of await makeFiles({ write: !isCheck })) {
  const news = same ? 'unchanged' : isCheck ? 'differs from what is made' : 'written';
  process.stdout.write(`${name}: ${blocks} blocks, ${bytes} bytes, ${news}\n`);
  if (isCheck && !same) process.exitCode = 1;
}
