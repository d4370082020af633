import { constrainedHost, hostName } from '../sites/host-constraint.js';

/** What is asked for when no route fits. */
export interface AllowedMethods {
  /** Notes a route as it is registered. */
  add(route: {
    url: string;
    method: string | string[];
    constraints?: Record<string, unknown> | undefined;
  }): void;
  /** The methods that this address takes, sorted; empty where there is nothing at it. */
  at(path: string, hostHeader: string | undefined): string[];
}

/** Makes an empty table of routes, so that a wrong verb is told from a wrong address. */
export function createAllowedMethods(): AllowedMethods {
  const routes: { form: RegExp; methods: string[]; host: string | undefined }[] = [];
  return {
    add({ url, method, constraints }) {
      const form = url
        .split('/')
        .map((segment) =>
          segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
        )
        .join('/');
      routes.push({
        form: new RegExp(`^${form}$`),
        methods: [method].flat(),
        host: constrainedHost(constraints),
      });
    },
    at(path, hostHeader) {
      const host = hostName(hostHeader);
      const fitting = routes.filter(
        (route) => (route.host === undefined || route.host === host) && route.form.test(path),
      );
      return [...new Set(fitting.flatMap((route) => route.methods))].sort();
    },
  };
}
