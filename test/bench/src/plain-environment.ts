/** Variables that would make the measured processes use other servers. */
const OURS = ['DATABASE_URL', 'REDIS_URL', 'OBJECT_STORE', 'NETWORKS_FILE', 'PUBLIC_URL', 'HOST', 'PORT'];

/** The environment of a measured process: this one's, without the settings of an installation. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.includes(name)));
}
