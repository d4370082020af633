import { render } from 'preact';
import { App } from './app.js';
import { keepFocus } from './shell/keep-focus.js';
import './style/index.css';

const root = document.getElementById('root') as HTMLElement;
// What the HTML shows until now.
root.replaceChildren();
render(<App />, root);
keepFocus();
