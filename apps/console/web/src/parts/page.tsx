import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Query } from '../lib/query.js';
import { toHref, useRoute } from '../lib/route.js';
import { findScreen } from './screens.js';

/** The screens above a page. */
type Above = readonly (readonly [path: string, title: string, query?: Query])[];

/** The path, the title and the actions of a screen, and below them its content. */
export function Page(given: {
  title: string;
  /** How the title is shown, if not as it is. */
  heading?: ComponentChildren;
  above?: Above;
  actions?: ComponentChildren;
  /** One line about what is shown. */
  lead?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, heading = title, above = [], actions, lead, children } = given;
  const group = findScreen(useRoute().parts[0])?.group ?? '';
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Packhouse`;
  }, [title]);
  return (
    <>
      <nav aria-label="Breadcrumbs">
        <ol class="crumbs plain">
          {group !== '' && <li>{group}</li>}
          {above.map(([path, name, query]) => (
            <li key={path}>
              <a href={toHref(path, query)}>{name}</a>
            </li>
          ))}
          <li aria-current="page">
            <bdi>{title.slice(0, 80)}</bdi>
          </li>
        </ol>
      </nav>
      <div class="page-head">
        <h1>{heading}</h1>
        {actions !== undefined && <div class="actions">{actions}</div>}
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children}
    </>
  );
}
