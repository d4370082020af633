/** Variables that would lead a started process to other servers. */
const OURS = ['DATABASE_URL', 'REDIS_URL', 'OBJECT_STORE', 'NETWORKS_FILE', 'PUBLIC_URL', 'HOST', 'PORT'];

/** An environment for a started process: `environment` without the settings of an installation. */
export function plainEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !OURS.includes(name)));
}
