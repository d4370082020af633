export type { Fragment, FragmentInfo } from './fragment.js';
