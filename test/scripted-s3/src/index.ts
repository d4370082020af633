export { type ScriptedS3, type ScriptedS3Fault, startScriptedS3 } from './start-scripted-s3.js';
