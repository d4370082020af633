export {
  ALL,
  CLONE,
  GIVEN,
  getGiven,
  type Json,
  type Recorded,
  type RecordedLog,
  type RecordedReceipt,
  type RecordedTrace,
  type RecordingName,
  type Recordings,
} from './recordings.js';
