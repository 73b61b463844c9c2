FROM python:3.11-slim

# For CUDA: docker build --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu129 .
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

WORKDIR /brdiv
COPY . .
RUN pip install --no-cache-dir -c constraints.txt --extra-index-url "$TORCH_INDEX" .

# Mount a folder here to keep what runs write: docker run -v "$PWD/runs:/data/runs" brdiv fit --config reaching
WORKDIR /data
ENTRYPOINT ["brdiv"]
CMD ["--help"]
