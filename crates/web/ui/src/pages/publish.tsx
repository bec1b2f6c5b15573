// What goes out: the certificate, what it does not claim, and the files.

import { useEffect, useState } from "preact/hooks";
import { fileAddress, type Project } from "../api";
import { link } from "../main";
import { Notice } from "../parts";

type Certificate = { sentence: string; not_claimed: string[]; records: number; digest: string; verified: boolean };

export function PublishPage({ path, project }: { path: string; project: Project }) {
  const state = project.policies.find((policy) => policy.path === path);
  const [certificate, set] = useState<Certificate | null>(null);
  const [read, setRead] = useState(false);
  useEffect(() => {
    if (state?.certificate) {
      fetch(fileAddress(state.certificate))
        .then((answer) => answer.json())
        .then((found) => set(found as Certificate), () => set(null));
    }
  }, [state?.certificate]);
  if (!state?.certificate || !state.publication) {
    return (
      <>
        <h1>Publish</h1>
        <Notice kind="warning">
          Nothing is published yet: <a href={link("result", { policy: path })}>make a publication first</a>.
        </Notice>
      </>
    );
  }
  return (
    <>
      <h1>Publish</h1>
      {state.state === "changed" && (
        <Notice kind="warning">The policy, the data or the publication changed after the certificate was written.</Notice>
      )}
      {certificate && (
        <>
          <p class="sentence">{certificate.sentence}.</p>
          <h2>What is not claimed</h2>
          <ul>
            {certificate.not_claimed.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          <label class="inline">
            <input type="checkbox" checked={read} onChange={(event) => setRead(event.currentTarget.checked)} />I have read what is not claimed
          </label>
          <p>
            Digest <code>{certificate.digest}</code>
          </p>
        </>
      )}
      <h2>Files to hand out</h2>
      <ul>
        {[state.publication, state.certificate, ...(state.report ? [state.report] : [])].map((file) => (
          <li>{read ? <a href={fileAddress(file)}>{file}</a> : <span>{file} (after reading)</span>}</li>
        ))}
      </ul>
      <p>
        Whoever receives them checks them with{" "}
        <a href={link("check", { publication: state.publication, certificate: state.certificate })}>Check</a>.
      </p>
    </>
  );
}
