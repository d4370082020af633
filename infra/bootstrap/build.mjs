// `npm run build`: installs what is missing, compiles everything, and builds the pages of the console.
import { prepare } from './prepare.mjs';

await prepare();
