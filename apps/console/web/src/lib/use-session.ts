import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from './api.js';

/** The session of the page; null: not signed in. */
export const SessionContext = createContext<Session | null>(null);

const useRole = () => useContext(SessionContext)?.role;

/** Whether the operator may change things; keys and plans only admins may. */
export function useMayChange(): boolean {
  const role = useRole();
  return role === 'operator' || role === 'admin';
}

export const useIsAdmin = (): boolean => useRole() === 'admin';
