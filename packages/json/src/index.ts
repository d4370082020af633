export {
  createSlicer,
  endOfValue,
  findElements,
  findExcess,
  getMembers,
  hasName,
  readMember,
  skipSpace,
  splitArray,
} from './outline.js';
export { createSplitter, type Splitter } from './split.js';
export { JsonValidator } from './validate.js';
export { createArrayValidator } from './validate-array.js';
