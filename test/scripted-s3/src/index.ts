export {
  type ScriptedS3,
  type ScriptedS3Fault,
  type ScriptedS3Options,
  type ScriptedS3Request,
  startScriptedS3,
} from './start-scripted-s3.js';
