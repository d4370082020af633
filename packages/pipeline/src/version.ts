/** The version of these programs, as manifest entries and deploys name it. */
export const VERSION = '0.1.0';
